# SPDX-License-Identifier: Apache-2.0
#
# keelson.m4 - build modules of Keelson with autoconf.

# KEEL_MODULE_INIT([least release])
# --------------------------------
# Looks for the installed SDK and checks that the compiler makes a module with it. Sets
#	KEEL_MODULE_CFLAGS KEEL_MODULE_LIBS   what a module is compiled and linked with
#	KEEL_MOCK_CFLAGS KEEL_MOCK_LIBS       what its test is, with CUnit
#	KEELSON_MODULE                        the program keelson-module
#	keelmoduledir keelconfdir             where the daemon looks for modules, and for their configuration
AC_DEFUN([KEEL_MODULE_INIT], [
	AC_REQUIRE([AC_PROG_CC])dnl
	AC_REQUIRE([PKG_PROG_PKG_CONFIG])dnl
	PKG_CHECK_MODULES([KEEL_MODULE], [keelson-module]m4_ifval([$1], [ >= $1]))
	PKG_CHECK_MODULES([KEEL_MOCK], [keelson-mock cunit])
	PKG_CHECK_VAR([keelmoduledir], [keelson-module], [moduledir])
	PKG_CHECK_VAR([keelconfdir], [keelson-module], [modulesconfdir])
	PKG_CHECK_VAR([KEELSON_MODULE], [keelson-module], [tool])
	AC_CACHE_CHECK([whether $CC makes modules of Keelson], [keel_cv_makes_modules], [
		keel_cflags=$CFLAGS keel_libs=$LIBS
		CFLAGS="$CFLAGS $KEEL_MODULE_CFLAGS" LIBS="$LIBS $KEEL_MODULE_LIBS"
		AC_LINK_IFELSE([AC_LANG_SOURCE([[#include "keel/keel.h"
			KEEL_MODULE(.name = "conftest", .roles = KEEL_SERVER);]])],
			[keel_cv_makes_modules=yes], [keel_cv_makes_modules=no])
		CFLAGS=$keel_cflags LIBS=$keel_libs
	])
	AS_IF([test "x$keel_cv_makes_modules" != xyes],
		[AC_MSG_ERROR([$CC does not make a module with $KEEL_MODULE_CFLAGS; config.log says why])])
])

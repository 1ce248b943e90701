def check(top, build): return []

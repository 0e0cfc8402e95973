"""`tidegate notification`: rules that say who hears of what, and a test of one."""

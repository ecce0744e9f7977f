import triton.language as tl

print("about to fail")
tl.no_such_thing

"""Writes the model file. usage: export.py BASE BI COVER OUT [F32_CHECK]"""
import sys, os, struct, torch, numpy as np
from model import *

def quantise(w):
    s = np.abs(w).max(1) / 127.0; s[s == 0] = 1.0
    return np.clip(np.rint(w / s[:, None]), -127, 127).astype(np.int8), s.astype(np.float32)

def tensors(base, bi, cover):
    low, up = load_base(os.path.join(base, 'model.safetensors'))
    if bi != '-': up.load_state_dict(torch.load(bi))
    c = Cover(); torch.manual_seed(0)
    if cover != '-': c.load_state_dict(torch.load(cover))
    else: c.upper.load_state_dict(up.state_dict())
    sd = dict(low.state_dict())
    sd.update({'dense.' + k: v for k, v in up.state_dict().items()})
    sd.update({'cover.' + k: v for k, v in c.state_dict().items()})
    return low, up, c, sd

def big(n, v):
    return v.ndim == 2 and v.numel() >= 20000

def write(sd, out):
    with open(out, 'wb') as f:
        f.write(b'SPR1' + struct.pack('<I', len(sd)))
        for n in sorted(sd):
            v = sd[n].float().numpy(); v = v[None] if v.ndim == 1 else v
            f.write(bytes([len(n)]) + n.encode() + bytes([1 if big(n, sd[n]) else 0]) + struct.pack('<II', *v.shape))
            if big(n, sd[n]):
                q, s = quantise(v); f.write(s.tobytes() + q.tobytes())
            else: f.write(v.astype('<f4').tobytes())

def dequantised(sd):
    """What the program computes with: every large matrix rounded to bytes and back."""
    out = {}
    for n, v in sd.items():
        if big(n, v):
            q, s = quantise(v.float().numpy()); v = torch.tensor(q.astype(np.float32) * s[:, None])
        out[n] = v
    return out

if __name__ == '__main__':
    base, bi, cover, out = sys.argv[1:5]
    sd = tensors(base, bi, cover)[3]
    write(sd, out); print(os.path.getsize(out))

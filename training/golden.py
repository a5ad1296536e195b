"""Writes the fixture that the crate's tests compare with: token ids of the reference tokenizer, figures of PyTorch.

usage: golden.py BASE BI COVER SCORE_BINARY OUT

The figures are computed with the weights as shipped (rounded to bytes and back), so what is compared is arithmetic.
"""
import json, os, subprocess, sys
import torch
from tokenizers import Tokenizer
from export import dequantised, tensors, tokenizer
from model import embed

base, bi, cover, binary, out = sys.argv[1:6]
tk = Tokenizer.from_file(tokenizer(base))
tk.no_padding()
tk.no_truncation()
TEXTS = [
    'How do I rotate the signing token?', 'Zürich, café — naïve coöperation; Ærøskøbing', 'snake_case camelCase --dry-run=true v1.2.3-rc.4',
    '日本語のテキスト and 中文 mixed', 'tabs\tand\nnew\r\nlines\u00a0here', 'emoji 🎉 and \u200bzero width', 'a' * 120 + ' short',
    'ΑΘΗΝΑ straße İstanbul', '“quoted” … ¿qué? ¡no!', 'x\u0301\u0302 combining', '', '   ', '`code` **bold** [link](https://example.com/a?b=c#d)',
    'ﬁ ligature ½ № ™', 'مرحبا שלום नमस्ते', '\ufffd replacement \x07 bell', 'antidisestablishmentarianism unhappinesses',
]
CASES = [
    dict(title='Where does the watering timer keep its schedule?',
         description='### Question\nI set three zones on the panel. After a power cut, are they still there?\n\n### Version\n2.4.1\n',
         passages=[
             ['Watering timer > Storage', 'The schedule is written to flash memory within a second of each change.\nIt survives power cuts; the clock does not.'],
             ['Watering timer > Zones', 'Up to eight zones can be defined. Each has a name, a start time and a duration.\n\n```\nzone add lawn 06:00 20m\n```'],
             ['Beehive scale > Wiring', 'Connect the red wire to the terminal marked `+`.'],
         ]),
    dict(title='cannot open the gate by phone', description='It says `error: pairing expired`. How long is a pairing valid, and can I change that?',
         passages=[
             ['Gate > Pairing', '| key | default | meaning |\n|---|---|---|\n| `pairing.days` | 30 | days until a paired phone must be paired again |'],
             ['Gate > Opening', 'Press the button for two seconds. See [pairing](pairing.md) for phones.\n' + 'The motor needs a warm-up in frost. ' * 40],
         ]),
]
low, up, net, sd = tensors(base, bi, cover)
dq = dequantised(sd)
low.load_state_dict({k: v for k, v in dq.items() if not k.startswith(('dense.', 'cover.'))})
up.load_state_dict({k[6:]: v for k, v in dq.items() if k.startswith('dense.')})
net.load_state_dict({k[6:]: v for k, v in dq.items() if k.startswith('cover.')})
for m in (low, up, net):
    m.eval()
inp = '\n'.join(json.dumps(dict(c, vectors=True)) for c in CASES)
rows = [json.loads(l) for l in subprocess.run([binary], input=inp, capture_output=True, text=True, check=True).stdout.splitlines()]
cases = []
for c, r in zip(CASES, rows):
    with torch.no_grad():
        q = torch.tensor([r['question_ids']])
        qm = torch.ones(q.shape)
        scores = []
        for ids in r['passage_ids']:
            p = torch.tensor([ids])
            pm = torch.ones(p.shape)
            scores.append(net(low(q, qm), qm, low(p, pm), pm).item())
        vector = embed(low, up, q, qm)[0].tolist()
    cases.append(dict(c, question_ids=r['question_ids'], passage_ids=r['passage_ids'], cover=scores, vector=[round(x, 7) for x in vector[:24]]))
json.dump(dict(tokens=[dict(text=t, ids=tk.encode(t).ids) for t in TEXTS], cases=cases), open(out, 'w', encoding='utf-8'), ensure_ascii=True, indent=1)

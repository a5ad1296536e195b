"""The encoder (BERT, MiniLM-L6 shape) in plain PyTorch, split into shared lower layers and two upper branches."""
import torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import load_file

HID, HEADS, INTER, LAYERS, SHARED = 384, 12, 1536, 6, 3
EPS = 1e-12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HID, 3 * HID)
        self.out = nn.Linear(HID, HID)
        self.ln1 = nn.LayerNorm(HID, eps=EPS)
        self.up = nn.Linear(HID, INTER)
        self.down = nn.Linear(INTER, HID)
        self.ln2 = nn.LayerNorm(HID, eps=EPS)

    def forward(self, x, mask, drop=0.0):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, HID // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        a = self.out(a.transpose(1, 2).reshape(b, t, HID))
        x = self.ln1(x + F.dropout(a, drop, self.training))
        h = self.down(F.gelu(self.up(x)))
        return self.ln2(x + F.dropout(h, drop, self.training))


def bias(mask):
    """[b,t] of 0/1 -> additive attention mask."""
    return (1.0 - mask.float())[:, None, None, :] * -10000.0


class Embeddings(nn.Module):
    def __init__(self, vocab=30522):
        super().__init__()
        self.word = nn.Embedding(vocab, HID)
        self.pos = nn.Embedding(512, HID)
        self.kind = nn.Parameter(torch.zeros(HID))
        self.ln = nn.LayerNorm(HID, eps=EPS)

    def forward(self, ids):
        return self.ln(self.word(ids) + self.pos.weight[: ids.shape[1]] + self.kind)


class Lower(nn.Module):
    """Embeddings and the layers that both branches share; never trained."""
    def __init__(self):
        super().__init__()
        self.emb = Embeddings()
        self.layers = nn.ModuleList(Layer() for _ in range(SHARED))

    def forward(self, ids, mask):
        x, m = self.emb(ids), bias(mask)
        for l in self.layers:
            x = l(x, m.to(x.dtype))
        return x


class Upper(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS - SHARED))

    def forward(self, x, mask, drop=0.0):
        m = bias(mask)
        for l in self.layers:
            x = l(x, m.to(x.dtype), drop)
        return x


def pool(x, mask):
    m = mask.float()[..., None]
    return (x.float() * m).sum(1) / m.sum(1).clamp(min=1)


def embed(lower, upper, ids, mask, drop=0.0):
    with torch.no_grad():
        x = lower(ids, mask)
    return F.normalize(pool(upper(x, mask, drop), mask), dim=-1)


def load_base(path):
    """-> (Lower, Upper) with the pretrained weights."""
    sd = load_file(path)
    low, up = Lower(), Upper()
    low.emb.word.weight.data = sd['embeddings.word_embeddings.weight']
    low.emb.pos.weight.data = sd['embeddings.position_embeddings.weight']
    low.emb.kind.data = sd['embeddings.token_type_embeddings.weight'][0].clone()
    low.emb.ln.weight.data = sd['embeddings.LayerNorm.weight']
    low.emb.ln.bias.data = sd['embeddings.LayerNorm.bias']
    for i in range(LAYERS):
        l = low.layers[i] if i < SHARED else up.layers[i - SHARED]
        p = f'encoder.layer.{i}.'
        for part in ('weight', 'bias'):
            l.qkv._parameters[part].data = torch.cat([sd[p + f'attention.self.{n}.{part}'] for n in ('query', 'key', 'value')])
            l.out._parameters[part].data = sd[p + f'attention.output.dense.{part}']
            l.ln1._parameters[part].data = sd[p + f'attention.output.LayerNorm.{part}']
            l.up._parameters[part].data = sd[p + f'intermediate.dense.{part}']
            l.down._parameters[part].data = sd[p + f'output.dense.{part}']
            l.ln2._parameters[part].data = sd[p + f'output.LayerNorm.{part}']
    low.requires_grad_(False)
    return low, up


KERNELS = torch.tensor([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
WIDTH = torch.tensor([0.03] + [0.07] * 10)


class Cover(nn.Module):
    """Question and passage, each through the shared layers on its own, then together through three more.

    The score is a sum of a small network over the pooled states and a linear layer over token-by-token features.
    """
    def __init__(self):
        super().__init__()
        self.upper = Upper()
        self.side = nn.Parameter(torch.zeros(2, HID))      # tells question states from passage states
        self.weight = nn.Linear(HID, 1)                    # how much a question token matters
        self.hidden = nn.Linear(4 * HID, 96)
        self.out = nn.Linear(96 + 2 * (len(KERNELS) + 2) + 1, 1)
        nn.init.zeros_(self.weight.weight); nn.init.zeros_(self.weight.bias)

    @staticmethod
    def inner(x, qm, pm, nq):
        """Cosines of each question token with each passage token."""
        q, p = F.normalize(x[:, :nq].float(), dim=-1), F.normalize(x[:, nq:].float(), dim=-1)
        return q @ p.transpose(1, 2)

    def features(self, sim, w, pm):
        """Kernel pooling and late interaction, both weighted over question tokens."""
        k = torch.exp(-((sim[..., None] - KERNELS) ** 2) / (2 * WIDTH ** 2)) * pm[:, None, :, None]
        k = torch.log1p(k.sum(2)) * 0.5
        top = sim.masked_fill(pm[:, None, :] == 0, -1).max(2).values
        k = torch.cat([k, top[..., None], (top ** 4)[..., None]], -1)
        return (k * w[..., None]).sum(1)

    def forward(self, xq, qm, xp, pm, drop=0.0):
        nq = xq.shape[1]
        x = torch.cat([xq + self.side[0], xp + self.side[1]], 1)
        before = self.inner(torch.cat([xq, xp], 1), qm, pm, nq)
        y = self.upper(x, torch.cat([qm, pm], 1), drop)
        after = self.inner(y, qm, pm, nq)
        w = self.weight(y[:, :nq]).squeeze(-1).float().masked_fill(qm == 0, -1e4).softmax(1)
        hq, hp = pool(y[:, :nq], qm), pool(y[:, nq:], pm)
        cos = F.cosine_similarity(hq, hp, dim=-1)[:, None]
        s = 4.0    # pooled states are small numbers
        h = F.gelu(self.hidden(torch.cat([hq * s, hp * s, hq * hp * s * s, (hq - hp).abs() * s], -1)))
        h = F.dropout(h, drop, self.training)
        return self.out(torch.cat([h, self.features(before, w, pm), self.features(after, w, pm), cos], -1)).squeeze(-1)

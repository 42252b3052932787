import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import type { SoakCallers } from './callers.ts';

/** Outcomes of a soak's requests, from the callers' point of view. */
export interface SoakTally {
  /** By kind of request and status; `gone` if the caller disconnected, `broken` if the response was interrupted. */
  readonly outcomes: Map<string, number>;
}

/** Tokens of a response lost by a dropped connection; the provider counts exactly these. */
export const LOST = { input: 1_000, output: 500 } as const;

interface Sender {
  readonly token: string;
  readonly path: string;
  /** The JSON body around a prompt. */
  readonly body: (content: string, isStreamed: boolean) => object;
}

interface Play {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  readonly play: (sender: Sender) => Promise<string>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const WAV = Buffer.concat([
  Buffer.from('52494646a40f000057415645666d74201000000001000100401f0000401f00000100080064617461800f0000', 'hex'),
  Buffer.alloc(0xf80, 0x80),
]);

const post = (sender: Sender, content: string, options: { isStreamed?: boolean; signal?: AbortSignal } = {}) =>
  fetch(`${inject('baseUrl')}${sender.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sender.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(sender.body(content, options.isStreamed === true)),
    signal: options.signal ?? AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });

/** Reads to the end; a stream without a terminator was interrupted. */
const finish = async (answer: Response, isStreamed = false): Promise<string> => {
  const text = await answer.text();
  return isStreamed && answer.ok && !text.includes('data: [DONE]') ? 'broken' : String(answer.status);
};

/** Disconnects after the first bytes of the response. */
const leaveInStream = async (sender: Sender): Promise<string> => {
  const gone = new AbortController();
  const answer = await post(sender, 'Talk. [[chunks=20]] [[chunk_delay_ms=5]]', {
    isStreamed: true,
    signal: gone.signal,
  });
  if (!answer.ok) return await finish(answer);
  await answer.body?.getReader().read();
  gone.abort();
  return 'gone';
};

/** Disconnects before the provider has responded. */
const leaveEarly = async (sender: Sender): Promise<string> => {
  const gone = new AbortController();
  const asked = post(sender, 'Think. [[delay_ms=100]]', { signal: gone.signal });
  await sleep(20);
  gone.abort();
  return await asked.then(finish).catch(() => 'gone');
};

const transcribe = async ({ token }: Sender): Promise<string> => {
  const form = new FormData();
  form.append('file', new Blob([WAV], { type: 'audio/wav' }), 'note.wav');
  const answer = await fetch(`${inject('baseUrl')}/v1/integrations/inference/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  return await finish(answer);
};

const lost = `[[prompt_tokens=${LOST.input}]] [[completion_tokens=${LOST.output}]]`;
const COMMON: readonly Play[] = [
  { name: 'json', weight: 12, play: async (sender) => await finish(await post(sender, 'Hello.')) },
  {
    name: 'stream',
    weight: 12,
    play: async (sender) => await finish(await post(sender, 'Hello.', { isStreamed: true }), true),
  },
  { name: 'leave in stream', weight: 3, play: leaveInStream },
  { name: 'leave early', weight: 3, play: leaveEarly },
  { name: 'refused', weight: 1, play: async (sender) => await finish(await post(sender, '[[status=400]]')) },
  { name: 'busy', weight: 1, play: async (sender) => await finish(await post(sender, '[[status=503]]')) },
  { name: 'reset', weight: 1, play: async (sender) => await finish(await post(sender, '[[reset]]')) },
  {
    name: 'dropped',
    weight: 1,
    play: async (sender) =>
      await finish(await post(sender, `[[drop_after=2]] [[chunks=6]] ${lost}`, { isStreamed: true }), true),
  },
  {
    name: 'dropped json',
    weight: 1,
    play: async (sender) => await finish(await post(sender, `[[drop_after=2]] ${lost}`)),
  },
];
const DELEGATED: readonly Play[] = [...COMMON, { name: 'transcription', weight: 4, play: transcribe }];

const delegatedSender = (token: string): Sender => ({
  token,
  path: '/v1/integrations/inference/chat/completions',
  body: (content, stream) => ({ messages: [{ role: 'user', content }], stream }),
});
const keySenders = (token: string): readonly Sender[] => [
  {
    token,
    path: '/v1/chat/completions',
    body: (content, stream) => ({ model: 'svc-chat', messages: [{ role: 'user', content }], stream }),
  },
  {
    token,
    path: '/v1/completions',
    body: (content, stream) => ({ model: 'svc-completion', prompt: content, stream }),
  },
];

/** Sends mixed traffic until the deadline: two concurrent requests per token and per key. */
export const sendTraffic = async (callers: SoakCallers, untilMs: number): Promise<SoakTally> => {
  const outcomes = new Map<string, number>();
  const run = async (senders: readonly Sender[], plays: readonly Play[], seed: number): Promise<void> => {
    const pick = createPicker(seed);
    while (Date.now() < untilMs) {
      const play = pick(plays.flatMap((each) => Array.from({ length: each.weight }, () => each)));
      const sender = pick(senders);
      // `fetch` throws for a connection that breaks.
      const outcome = await play.play(sender).catch(() => 'broken');
      const name = `${sender.path.includes('integrations') ? 'delegated' : 'gateway'} ${play.name}: ${outcome}`;
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
    }
  };
  await Promise.all([
    ...callers.tokens.flatMap((token, index) => [
      run([delegatedSender(token)], DELEGATED, index * 4 + 1),
      run([delegatedSender(token)], DELEGATED, index * 4 + 2),
    ]),
    ...callers.keys.flatMap((key, index) => [
      run(keySenders(key), COMMON, index * 4 + 3),
      run(keySenders(key), COMMON, index * 4 + 4),
    ]),
  ]);
  return { outcomes };
};

/** Returns seeded choices, the same in every run (a linear congruential generator). */
const createPicker = (seed: number) => {
  let state = seed;
  return <T>(items: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const item = items[Math.floor((state / 2 ** 32) * items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
};

import { hash } from 'node:crypto';
import { z } from 'zod';
import { readDirectives } from './directives.ts';
import { answeredModel, type Exchange, ProviderError, playDirectives, readBody, sendJson } from './exchange.ts';
import { seededWords } from './generate-answer.ts';

/** Assumed bytes per second if the file is not WAV: 128 kbit/s, as in a typical MP3. */
const BYTES_PER_SECOND = 16_000;
const WORDS_PER_SECOND = 2;
const WORDS_MAX = 2_000;

const transcriptionForm = z.object({
  model: z.string().min(1),
  file: z.instanceof(File).refine((file) => file.size > 0, 'must not be empty'),
  language: z.string().optional(),
  prompt: z.string().default(''),
  response_format: z.enum(['json', 'verbose_json']).default('json'),
});

/** Handles POST /v1/audio/transcriptions. The file determines the words; directives are in `prompt`. */
export const answerTranscription = async (exchange: Exchange): Promise<void> => {
  const form = await readForm(exchange);
  const { directives } = readDirectives(form.prompt);
  if (!(await playDirectives(exchange, directives))) return;
  const audio = Buffer.from(await form.file.arrayBuffer());
  const duration = durationSeconds(audio);
  const seconds = Math.ceil(duration);
  const model = answeredModel(form.model, directives);
  exchange.counter.billed({ model, audioSeconds: seconds });
  // A digest, since seeding hashes its input repeatedly and a whole recording would take seconds.
  const seed = hash('sha256', audio, 'hex');
  const text = seededWords(seed, Math.min(WORDS_MAX, Math.max(1, seconds * WORDS_PER_SECOND)));
  const usage = directives.no_usage ? {} : { usage: { type: 'duration', seconds } };
  if (form.response_format === 'json') return sendJson(exchange, { text, ...usage }, directives);
  const segment = { id: 0, seek: 0, start: 0, end: duration, text, tokens: [], temperature: 0 };
  const scores = { avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 };
  const language = form.language ?? 'en';
  const segments = [{ ...segment, ...scores }];
  sendJson(exchange, { task: 'transcribe', language, duration, text, segments, ...usage }, directives);
};

const readForm = async ({ req }: Exchange): Promise<z.infer<typeof transcriptionForm>> => {
  const body = new Uint8Array(await readBody(req));
  let form: FormData;
  try {
    form = await new Response(body, { headers: { 'content-type': req.headers['content-type'] ?? '' } }).formData();
  } catch {
    throw new ProviderError(400, 'invalid_form', 'The body is not multipart/form-data.');
  }
  const parsed = transcriptionForm.safeParse(Object.fromEntries(form));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ProviderError(400, 'invalid_value', `${issue?.path.join('.')}: ${issue?.message}`);
};

/**
 * Returns the length of a recording: from the header of a PCM WAV file, otherwise from its size at 128 kbit/s. Rounded
 * to centiseconds.
 */
const durationSeconds = (audio: Buffer): number => {
  const seconds = wavSeconds(audio) ?? audio.length / BYTES_PER_SECOND;
  return Math.max(0.01, Math.round(seconds * 100) / 100);
};

const wavSeconds = (audio: Buffer): number | undefined => {
  const isWave = audio.toString('latin1', 0, 4) === 'RIFF' && audio.toString('latin1', 8, 12) === 'WAVE';
  if (!isWave) return undefined;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= audio.length; ) {
    const kind = audio.toString('latin1', at, at + 4);
    const size = audio.readUInt32LE(at + 4);
    if (kind === 'fmt ' && at + 20 <= audio.length) bytesPerSecond = audio.readUInt32LE(at + 16);
    if (kind === 'data' && bytesPerSecond > 0) return Math.min(size, audio.length - at - 8) / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return undefined;
};

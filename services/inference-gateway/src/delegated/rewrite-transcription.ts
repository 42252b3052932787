import { UpstreamFailure } from '../upstream-failure/index.ts';
import { isRecord, parseRecord, reportsError } from '../wire/index.ts';
import { listOf, objectOf, quantity, scalar } from './allow-list.ts';

const publicTranscription = objectOf({
  task: scalar,
  language: scalar,
  duration: scalar,
  text: scalar,
  segments: listOf(
    objectOf({
      id: scalar,
      seek: scalar,
      start: scalar,
      end: scalar,
      text: scalar,
      tokens: listOf(scalar),
      temperature: scalar,
      avg_logprob: scalar,
      compression_ratio: scalar,
      no_speech_prob: scalar,
    }),
  ),
  words: listOf(objectOf({ word: scalar, start: scalar, end: scalar })),
  usage: objectOf({
    type: scalar,
    seconds: quantity,
    input_tokens: quantity,
    output_tokens: quantity,
    total_tokens: quantity,
    input_token_details: objectOf({ text_tokens: quantity, audio_tokens: quantity }),
  }),
});

/** A transcription as the caller may see it, and how long the audio was. */
export interface RewrittenTranscription {
  readonly body: Buffer;
  /** Undefined where the provider did not say. */
  readonly audioMs: number | undefined;
}

/**
 * Keeps what the common wire format has, and says the length as that does. Throws UpstreamFailure for what is no transcription:
 * `failed` where it tells of an error, else `garbled`.
 */
export const rewriteTranscription = (body: Buffer): RewrittenTranscription => {
  const answer = parseRecord(body);
  if (typeof answer['text'] !== 'string') throw new UpstreamFailure(reportsError(answer) ? 'failed' : 'garbled');
  const shown = publicTranscription({ ...answer, usage: publicUsage(answer['usage']) });
  return { body: Buffer.from(JSON.stringify(shown)), audioMs: audioMsOf(answer) };
};

/** Mistral tells seconds among its tokens. */
const publicUsage = (usage: unknown): unknown =>
  isRecord(usage) && 'prompt_audio_seconds' in usage
    ? { type: 'duration', seconds: usage['prompt_audio_seconds'] }
    : usage;

/** What the provider bills by comes first: it rounds the duration up. */
const audioMsOf = (answer: Record<string, unknown>): number | undefined => {
  const usage = publicUsage(answer['usage']);
  return toMs(isRecord(usage) ? usage['seconds'] : undefined) ?? toMs(answer['duration']);
};

/** Far beyond what fits into a file: more is a fault of the provider's, not something to charge. */
const AUDIO_SECONDS_MAX = 1_000_000;

const toMs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && seconds >= 0 && seconds <= AUDIO_SECONDS_MAX
    ? Math.ceil(seconds * 1000 - 1e-6)
    : undefined;

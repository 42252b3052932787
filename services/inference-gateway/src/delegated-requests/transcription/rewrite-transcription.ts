import { UpstreamFailure } from '../../upstream-failure.ts';
import { isRecord, parseRecord, reportsError } from '../../wire/index.ts';
import { listOf, objectOf, quantity, scalar } from '../public-members.ts';

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

/** A transcription in its public form, with the length of the audio. */
export interface RewrittenTranscription {
  readonly body: Buffer;
  /** Undefined if the provider did not report it. */
  readonly audioMs: number | undefined;
}

/**
 * Reduces a transcription to the common wire format. Throws UpstreamFailure if it is not a transcription: `failed` if it
 * reports an error, else `garbled`.
 */
export const rewriteTranscription = (body: Buffer): RewrittenTranscription => {
  const response = parseRecord(body);
  if (typeof response['text'] !== 'string') throw new UpstreamFailure(reportsError(response) ? 'failed' : 'garbled');
  const shown = publicTranscription({ ...response, usage: publicUsage(response['usage']) });
  return { body: Buffer.from(JSON.stringify(shown)), audioMs: audioMsOf(response) };
};

/** Converts Mistral's usage, which reports seconds among the token counts. */
const publicUsage = (usage: unknown): unknown =>
  isRecord(usage) && 'prompt_audio_seconds' in usage
    ? { type: 'duration', seconds: usage['prompt_audio_seconds'] }
    : usage;

/** Prefers the billed seconds, which providers round up from the duration. */
const audioMsOf = (response: Record<string, unknown>): number | undefined => {
  const usage = publicUsage(response['usage']);
  return toMs(isRecord(usage) ? usage['seconds'] : undefined) ?? toMs(response['duration']);
};

/** No file within the size limit is this long, so a longer one is the provider's error and is not charged. */
const AUDIO_SECONDS_MAX = 1_000_000;

const toMs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && seconds >= 0 && seconds <= AUDIO_SECONDS_MAX
    ? Math.ceil(seconds * 1000 - 1e-6)
    : undefined;

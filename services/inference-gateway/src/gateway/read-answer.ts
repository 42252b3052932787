import { UpstreamFailure } from '../upstream-failure/index.ts';
import {
  type AnswerSpan,
  findMember,
  outputBytesOf,
  type ReportedUsage,
  readUsage,
  scanAnswer,
  tellsError,
} from '../wire/index.ts';

/** Everything that the gateway reads of a provider's JSON answer, whose bytes stay as they came. */
export interface AnswerReading extends AnswerSpan {
  readonly id: unknown;
  readonly model: unknown;
  readonly usage: ReportedUsage;
  /** Bytes of generated text; counted only if the provider reports no plausible usage. */
  readonly outputBytes: number;
}

const BLANK = /^[\t\n\r ]*$/;

/**
 * Reads single members and skips the rest: embeddings are long lists of numbers. Throws UpstreamFailure: `failed` if the
 * provider reports an error, `garbled` for text that is no JSON object as far as it is read.
 */
export const readAnswer = (
  bytes: Buffer,
  { contextTokensMax }: { readonly contextTokensMax: number },
): AnswerReading => {
  try {
    const scanned = scanAnswer(bytes);
    const { span } = scanned;
    const read = (key: string): unknown => {
      const member = findMember(span, key);
      return member === undefined ? undefined : JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd));
    };
    const isAnswer = findMember(span, 'choices') !== undefined || findMember(span, 'data') !== undefined;
    if (!isAnswer && tellsError({ error: read('error'), object: read('object') })) throw new UpstreamFailure('failed');
    // To be stamped later: a damaged one is found before anything is settled.
    read('extensions');
    if (!BLANK.test(bytes.toString('latin1', span.close + 1))) throw new UpstreamFailure('garbled');
    const usage = readUsage(read('usage'), contextTokensMax);
    const choices = typeof usage === 'object' ? undefined : read('choices');
    return {
      ...scanned,
      id: read('id'),
      model: read('model'),
      usage,
      outputBytes: Array.isArray(choices) ? outputBytesOf(choices) : 0,
    };
  } catch (error) {
    // Not as the cause: its message could quote the answer.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};

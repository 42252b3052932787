import { UpstreamFailure } from '../providers/index.ts';
import {
  findMember,
  outputBytesOf,
  type RequestBody,
  readUsage,
  scanObject,
  type TokenUsage,
  tellsError,
} from '../wire/index.ts';

/** What the gateway reads of a provider's JSON answer, which itself stays as it came. */
export interface ReadAnswer extends RequestBody {
  readonly id: unknown;
  readonly model: unknown;
  /** Undefined where the provider did not say. */
  readonly usage: TokenUsage | undefined;
  /** Bytes of generated text, counted only where the provider did not say what it has used. */
  readonly outputBytes: () => number;
}

const BLANK = /^[\t\n\r ]*$/;

/**
 * Reads single members and skips the rest: embeddings are long lists of numbers. Throws UpstreamFailure: `failed` where the
 * provider tells of an error, `garbled` for what is no JSON object, as far as it is looked at.
 */
export const readAnswer = (bytes: Buffer): ReadAnswer => {
  try {
    const span = scanObject(bytes);
    const read = (key: string): unknown => {
      const member = findMember(span, key);
      return member === undefined ? undefined : JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd));
    };
    const isAnswer = findMember(span, 'choices') !== undefined || findMember(span, 'data') !== undefined;
    if (!isAnswer && tellsError({ error: read('error'), object: read('object') })) throw new UpstreamFailure('failed');
    // To be stamped later: a damaged one is found here, before anything is settled.
    read('extensions');
    if (!BLANK.test(bytes.toString('latin1', span.close + 1))) throw new UpstreamFailure('garbled');
    return {
      bytes,
      span,
      id: read('id'),
      model: read('model'),
      usage: readUsage(read('usage')),
      outputBytes: () => {
        const choices = read('choices');
        return Array.isArray(choices) ? outputBytesOf(choices) : 0;
      },
    };
  } catch (error) {
    // Not as the cause: its message could quote the answer.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};

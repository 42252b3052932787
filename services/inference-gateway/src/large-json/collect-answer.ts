import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import type { UpstreamAnswer } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { JsonShape } from './json-shape.ts';
import type { HeldText, TextOwner } from './read-json-body.ts';
import { TextCollector, type TextScan } from './text-collector.ts';

/** Limits of one answer, and its reader while it arrives. */
export interface AnswerLimits {
  readonly bytesMax: number;
  readonly scan: TextScan;
}

/** Returns the limits of an ordinary answer, which are those of a request. */
export const jsonAnswerLimits = (): AnswerLimits => ({ bytesMax: INFERENCE_JSON_BYTES_MAX, scan: new JsonShape() });

/**
 * Reads the JSON answer of a provider, which is paused while memory is scarce. Throws UpstreamFailure; `too_complex` if the
 * answer exceeds the limits.
 */
export const collectAnswer = (
  answer: UpstreamAnswer,
  owner: TextOwner,
  { bytesMax, scan }: AnswerLimits = jsonAnswerLimits(),
): Promise<HeldText> =>
  new Promise((resolve, reject) => {
    const { status } = answer;
    const length = Number(answer.headers['content-length'] ?? Number.NaN);
    const announcedBytes = Number.isSafeInteger(length) ? length : undefined;
    const collector = new TextCollector({ ...owner, announcedBytes, bytesMax, scan });
    const { room } = collector;
    let granted: Promise<void> | undefined;
    const fail = (error: unknown): void => {
      answer.abort();
      room.release();
      reject(error);
    };
    const tooComplex = (bytesRead: number) => new UpstreamFailure('too_complex', { status, bytesRead });
    if (announcedBytes !== undefined && announcedBytes > bytesMax) return fail(tooComplex(announcedBytes));
    answer.read({
      onData: (piece) => {
        const pushed = collector.push(piece);
        if (pushed === undefined) return;
        if (pushed === 'too_complex') return fail(tooComplex(collector.length));
        answer.pause();
        granted = pushed;
        pushed.then(answer.resume, fail);
      },
      onEnd: () => {
        const finish = (): void => resolve({ ...collector.take(), room });
        if (granted === undefined) finish();
        // The last piece may still wait for its memory.
        else granted.then(finish, fail);
      },
      onFailure: fail,
    });
  });

import type { IncomingMessage } from 'node:http';
import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import { AppError, consumeBody, RequestTimeout } from '@svc/service-kit';
import type { UpstreamAnswer } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { JsonShape } from './json-shape.ts';
import type { JsonText } from './json-text.ts';
import { TextCollector, type TextScan } from './text-collector.ts';
import type { TextMemory } from './text-memory.ts';
import type { TextRoom } from './text-room.ts';

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

/** A text in memory. It takes up its room until that is released. */
export interface HeldText extends JsonText {
  readonly room: TextRoom;
}

/** The memory that a text uses, and the account whose share it counts against. */
export interface TextOwner {
  readonly memory: TextMemory;
  readonly account: string;
}

/**
 * Reads the JSON body of a request, with backpressure while memory is scarce. Throws `payload_too_large`,
 * `payload_too_complex`, `service_unavailable` if no memory becomes free in time, or `request_timeout` if the caller is so
 * slow that it delays others.
 */
export const readJsonBody = async (req: IncomingMessage, owner: TextOwner): Promise<HeldText> => {
  const announced = req.headers['content-length'];
  const collector = new TextCollector({
    ...owner,
    announcedBytes: announced === undefined ? undefined : Number(announced),
    bytesMax: INFERENCE_JSON_BYTES_MAX,
    scan: new JsonShape(),
  });
  const { room } = collector;
  try {
    await consumeBody(req, {
      bytesMax: INFERENCE_JSON_BYTES_MAX,
      onPieces: (fail) => room.startTransit(() => fail(new RequestTimeout())),
      onChunk: (chunk) => {
        const pushed = collector.push(chunk);
        if (pushed === 'too_complex') throw new AppError('payload_too_complex');
        return pushed;
      },
    });
    return { ...collector.take(), room };
  } catch (error) {
    room.release();
    throw error;
  }
};

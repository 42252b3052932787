import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import type { UpstreamAnswer } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import type { HeldText, TextOwner } from './read-json-body.ts';
import { TextCollector } from './text-collector.ts';

/**
 * Reads the JSON answer of a provider. Throws UpstreamFailure: `too_complex` if it exceeds the limits of a request,
 * `timeout` if the provider is so slow that it delays others. Throws AppError `service_unavailable` if no memory becomes
 * free in time.
 */
export const collectAnswer = (answer: UpstreamAnswer, owner: TextOwner): Promise<HeldText> =>
  new Promise((resolve, reject) => {
    const { status } = answer;
    const announced = Number(answer.headers['content-length'] ?? Number.NaN);
    const collector = new TextCollector({
      ...owner,
      announcedBytes: Number.isSafeInteger(announced) ? announced : undefined,
      bytesMax: INFERENCE_JSON_BYTES_MAX,
    });
    const { room } = collector;
    const fail = (error: unknown): void => {
      answer.abort();
      room.release();
      reject(error);
    };
    if (announced > INFERENCE_JSON_BYTES_MAX) return fail(new UpstreamFailure('too_complex', { status }));
    room.startTransit(() => fail(new UpstreamFailure('timeout', { status })));
    answer.read({
      onData: (piece) => {
        const pushed = collector.push(piece);
        if (pushed === undefined) return;
        if (pushed === 'too_complex') return fail(new UpstreamFailure('too_complex', { status }));
        answer.pause();
        pushed.then(answer.resume, fail);
      },
      onEnd: () => resolve({ ...collector.take(), room }),
      onFailure: fail,
    });
  });

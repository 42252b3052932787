import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import type { UpstreamAnswer } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import type { HeldText, TextMemory } from './read-json-body.ts';
import { TextCollector } from './text-collector.ts';

/**
 * Reads the JSON answer of a provider within the bounds of a request. Throws UpstreamFailure, `too_complex` beyond those
 * bounds, and AppError `service_unavailable` if no memory gets free in time.
 */
export const collectAnswer = (answer: UpstreamAnswer, { budget, account }: TextMemory): Promise<HeldText> =>
  new Promise((resolve, reject) => {
    const announced = Number(answer.headers['content-length'] ?? Number.NaN);
    const collector = new TextCollector({
      announcedBytes: Number.isSafeInteger(announced) ? announced : undefined,
      bytesMax: INFERENCE_JSON_BYTES_MAX,
      takeRoom: (bytes) => budget.take(account, bytes),
    });
    let bytes = 0;
    const fail = (error: unknown): void => {
      answer.abort();
      collector.release();
      reject(error);
    };
    if (announced > INFERENCE_JSON_BYTES_MAX) return fail(tooComplex(answer));
    answer.read({
      onData: (piece) => {
        bytes += piece.length;
        const pushed = bytes > INFERENCE_JSON_BYTES_MAX ? 'too_complex' : collector.push(piece);
        if (pushed === undefined) return;
        if (pushed === 'too_complex') return fail(tooComplex(answer));
        answer.pause();
        pushed.then(answer.resume, fail);
      },
      onEnd: () => resolve({ ...collector.take(), release: collector.release }),
      onFailure: fail,
    });
  });

const tooComplex = ({ status }: UpstreamAnswer): UpstreamFailure => new UpstreamFailure('too_complex', { status });

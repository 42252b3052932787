import { UpstreamFailure } from '../../upstream-failure.ts';
import type { UpstreamAnswer } from './open-upstream.ts';

/** Reads a whole body into memory. Rejects with UpstreamFailure; `garbled` if it exceeds `bytesMax`. */
export const collectBody = (answer: UpstreamAnswer, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.read({
      onData: (chunk) => {
        bytes += chunk.length;
        if (bytes <= bytesMax) {
          chunks.push(chunk);
          return;
        }
        answer.abort();
        reject(new UpstreamFailure('garbled', { status: answer.status }));
      },
      onEnd: () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
      onFailure: reject,
    });
  });

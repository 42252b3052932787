import type { IncomingMessage } from 'node:http';
import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import { AppError, consumeBody } from '@svc/service-kit';
import type { JsonText } from './json-tasks.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { TextCollector } from './text-collector.ts';

/** A text in memory, and the room that it takes there. */
export interface HeldText extends JsonText {
  /** Gives the room back, when nothing refers to the text any more. */
  readonly release: () => void;
}

/** Whose memory a text counts against. */
export interface TextMemory {
  readonly budget: MemoryBudget;
  readonly account: string;
}

/**
 * Reads the JSON body of a request, as fast as there is memory for it. Throws `payload_too_large`, `payload_too_complex`, or
 * `service_unavailable` if no memory gets free in time.
 */
export const readJsonBody = async (req: IncomingMessage, { budget, account }: TextMemory): Promise<HeldText> => {
  const announced = req.headers['content-length'];
  const collector = new TextCollector({
    announcedBytes: announced === undefined ? undefined : Number(announced),
    bytesMax: INFERENCE_JSON_BYTES_MAX,
    takeRoom: (bytes) => budget.take(account, bytes),
  });
  try {
    await consumeBody(req, {
      bytesMax: INFERENCE_JSON_BYTES_MAX,
      onChunk: (chunk) => {
        const pushed = collector.push(chunk);
        if (pushed === 'too_complex') throw new AppError('payload_too_complex');
        return pushed;
      },
    });
    return { ...collector.take(), release: collector.release };
  } catch (error) {
    collector.release();
    throw error;
  }
};

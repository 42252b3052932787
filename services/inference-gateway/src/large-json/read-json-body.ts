import type { IncomingMessage } from 'node:http';
import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import { AppError, consumeBody, RequestTimeout } from '@svc/service-kit';
import { JsonShape } from './json-shape.ts';
import type { JsonText } from './json-text.ts';
import { TextCollector } from './text-collector.ts';
import type { TextMemory } from './text-memory.ts';
import type { TextRoom } from './text-room.ts';

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

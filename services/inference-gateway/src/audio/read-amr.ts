import type { ByteQueue, Step } from './byte-queue.ts';
import type { FrameCount } from './frame-count.ts';

const FRAMES_PER_SECOND = 50;
/** Bytes after the first one, by frame type (RFC 4867). */
const NARROW = [12, 13, 15, 17, 19, 20, 26, 31, 5];
const WIDE = [17, 23, 32, 36, 40, 46, 50, 58, 60, 5];

/** Counts the frames of an AMR. */
export function* readAmr(queue: ByteQueue, frames: FrameCount): Step {
  const isWide = (yield* queue.peek(9)).toString('latin1') === '#!AMR-WB\n';
  queue.skip(isWide ? 9 : 6);
  for (;;) {
    const [first = 0] = yield* queue.read(1);
    queue.skip((isWide ? WIDE : NARROW)[(first >> 3) & 15] ?? 0);
    frames.add(1, FRAMES_PER_SECOND);
  }
}

import { isReadInline, JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';

/** Shorter events cannot have many values. */
const UNCHECKED_EVENT_BYTES = 2 * 1024;

/** Returns true for an event that must not be parsed on the event loop. Throws UpstreamFailure, `too_complex`. */
export const isLargeEvent = (data: Buffer): boolean => {
  const { length } = data;
  if (length <= UNCHECKED_EVENT_BYTES) return false;
  if (!isReadInline({ length, values: 0 })) return true;
  const shape = new JsonShape();
  if (!shape.push(data)) throw new UpstreamFailure('too_complex');
  return !isReadInline({ length, values: shape.values });
};

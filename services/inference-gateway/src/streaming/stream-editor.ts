import type { OutgoingHttpHeaders } from 'node:http';
import type { UpstreamFailure } from '../upstream-failure.ts';
import type { Edited, LateResponse } from './client-writer.ts';

/** A large event that was read in a worker. */
export interface LargeEvent {
  /** Same as `open` of the editor. */
  readonly open: () => OutgoingHttpHeaders | undefined;
  /** Same as `edit` of the editor. */
  readonly edit: (block: Buffer) => Edited;
}

/** Edits a stream for its caller. Each method may throw UpstreamFailure for invalid data. */
export interface StreamEditor {
  /**
   * Validates the first event before the response starts. Returns the headers, or undefined if a later event must decide.
   * Its errors become error responses.
   */
  readonly open: (data: Buffer) => OutgoingHttpHeaders | undefined;
  /** Starts the response if its first event is late. Undefined if the provider need not be known. */
  readonly late?: LateResponse;
  /** `data` is undefined for comments and other blocks without data. */
  readonly edit: (block: Buffer, data: Buffer | undefined) => Edited;
  /** Reads a large event in a worker. */
  readonly readLarge: (data: Buffer) => Promise<LargeEvent>;
  /** Returns true if a stream that ended without `[DONE]` is complete. */
  readonly isWhole: () => boolean;
  /** Returns true if the response is complete although its stream failed: nothing but its formal end is missing. */
  readonly isWholeDespite: (failure: UpstreamFailure) => boolean;
  /** Returns the last bytes of a complete stream. `block` is the provider's `[DONE]`, if it sent one. */
  readonly close: (block: Buffer | undefined) => Edited;
  /** Returns the last bytes of a broken stream. */
  readonly fail: (failure: UpstreamFailure) => Edited;
}

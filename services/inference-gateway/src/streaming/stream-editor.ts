import type { OutgoingHttpHeaders } from 'node:http';
import type { UpstreamFailure } from '../upstream-failure/index.ts';
import type { Edited } from './client-writer.ts';

/** A large event that was read. */
export interface LargeEvent {
  /** As `open` of the editor does. */
  readonly open: () => OutgoingHttpHeaders | undefined;
  /** As `edit` of the editor does. */
  readonly edit: (block: Buffer) => Edited;
}

/** Edits a stream for its caller. Each method may throw UpstreamFailure for data that no stream may contain. */
export interface StreamEditor {
  /**
   * Judges the first event before the answer opens, and returns the headers, or undefined for an event that says nothing yet. Its
   * errors are answered as such.
   */
  readonly open: (data: Buffer) => OutgoingHttpHeaders | undefined;
  /** `data` is undefined for comments and other blocks without data. */
  readonly edit: (block: Buffer, data: Buffer | undefined) => Edited;
  /** Reads a large event off the event loop. */
  readonly readLarge: (data: Buffer) => Promise<LargeEvent>;
  /** Returns true if the answer is whole, for a stream that ends without `[DONE]`. */
  readonly isWhole: () => boolean;
  /** Returns the end of a whole stream. `block` is the provider's own `[DONE]`, if it sent one. */
  readonly close: (block: Buffer | undefined) => Edited;
  /** Returns the end of a broken stream. */
  readonly fail: (failure: UpstreamFailure) => Edited;
}

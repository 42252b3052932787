import type { OutgoingHttpHeaders } from 'node:http';
import type { AppError } from '@svc/service-kit';
import type { Edited } from './client-writer.ts';

/** Start and end of a stream that has to begin before its first event, so that no proxy takes the silence for a failure. */
export interface LateAnswer {
  /** Returns the headers, or undefined while something that they must name is unknown. */
  readonly headers: () => OutgoingHttpHeaders | undefined;
  /** Returns the last bytes of a stream that fails before its first event. */
  readonly fail: (error: AppError) => Edited;
}

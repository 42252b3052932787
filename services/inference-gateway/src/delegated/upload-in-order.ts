import { type FormFields, failureToReport, type UpstreamAnswer, type UpstreamDeps } from '../providers/index.ts';
import type { AudioRoute } from '../routes/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { type FormUpload, type OpenedForm, openFormUpload } from './open-form-upload.ts';

/** An upload that falls back to the next route if the current one has definitely served nothing. */
export interface OrderedUpload {
  /** Sends more of the file and takes ownership of the bytes. Throws UpstreamFailure. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Closes the form and returns a successful answer with its route. Throws UpstreamFailure. */
  readonly finish: (fields: FormFields) => Promise<ServedUpload>;
  readonly abort: () => void;
  /** Returns true once a provider has the whole form, as it may then serve it. */
  readonly isComplete: () => boolean;
}

/** The answer to an upload, and its route. */
export interface ServedUpload {
  readonly answer: UpstreamAnswer;
  readonly route: AudioRoute;
}

/**
 * Limit of bytes kept for a retry on the next route. Most voice messages are smaller. A route that refuses connections, or
 * refuses immediately, fails before this limit: its buffers hold at most half of it, plus the last piece read.
 */
const KEPT_BYTES_MAX = 512 * 1024;

/**
 * Sends a form to the first route. Falls back to the next routes as long as all bytes sent so far are kept. Calls
 * `onFailed` for each route whose provider received part of the form but did not serve it.
 */
export const uploadInOrder = (
  deps: UpstreamDeps,
  routes: readonly [AudioRoute, ...AudioRoute[]],
  { form, onFailed }: { readonly form: OpenedForm; readonly onFailed: (route: AudioRoute) => void },
): OrderedUpload => {
  const [first, ...others] = routes;
  const kept = keepStart(KEPT_BYTES_MAX);
  let current: FormUpload = openFormUpload(deps, first, form);
  let last: UpstreamFailure | undefined;

  /** Opens the next route and resends the kept bytes. Throws if no route is left or the failure forbids a retry. */
  const moveOn = async (thrown: unknown): Promise<void> => {
    let error = thrown;
    for (;;) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.hasReachedProvider) onFailed(current.route);
      if (!error.allowsFallback) throw error;
      last = last === undefined ? error : failureToReport(last, error);
      const bytes = kept.all();
      const next = bytes === undefined ? undefined : others.shift();
      if (bytes === undefined || next === undefined) throw last;
      current.abort();
      current = openFormUpload(deps, next, form);
      try {
        return await current.write(bytes);
      } catch (again) {
        error = again;
      }
    }
  };
  return {
    write: async (bytes) => {
      kept.add(bytes);
      await current.write(bytes).catch(moveOn);
    },
    finish: async (fields) => {
      for (;;) {
        try {
          return { answer: await current.finish(fields), route: current.route };
        } catch (error) {
          await moveOn(error);
        }
      }
    },
    abort: () => current.abort(),
    isComplete: () => current.isComplete(),
  };
};

/** Keeps the first bytes in one buffer, up to a limit. Many tiny pieces then cost no more than their bytes. */
const keepStart = (bytesMax: number) => {
  let buffer: Buffer | undefined = Buffer.alloc(0);
  let length = 0;
  return {
    add: (bytes: Buffer): void => {
      if (buffer === undefined) return;
      if (length + bytes.length > bytesMax) {
        buffer = undefined;
        return;
      }
      if (length + bytes.length > buffer.length) {
        const grown = Buffer.allocUnsafeSlow(Math.min(bytesMax, Math.max(buffer.length * 2, length + bytes.length)));
        buffer.copy(grown, 0, 0, length);
        buffer = grown;
      }
      length += bytes.copy(buffer, length);
    },
    /** Returns a copy, because the upload takes ownership; undefined if the limit was exceeded. */
    all: (): Buffer | undefined => buffer && Buffer.from(buffer.subarray(0, length)),
  };
};

import {
  type FormFields,
  moreTelling,
  type UpstreamAnswer,
  type UpstreamDeps,
  UpstreamFailure,
} from '../providers/index.ts';
import type { AudioRoute } from '../routes/index.ts';
import { type FormUpload, type OpenedForm, openFormUpload } from './open-form-upload.ts';

/** An upload that the next route takes over where the last one has certainly served nothing. */
export interface OrderedUpload {
  /** Sends more of the file, and takes the bytes over. Throws UpstreamFailure. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Closes the form; answers the head of a 200, and whose it is. Throws UpstreamFailure. */
  readonly finish: (fields: FormFields) => Promise<ServedUpload>;
  readonly abort: () => void;
  /** Whether a provider has had the whole form, so that it may have served it. */
  readonly isComplete: () => boolean;
}

/** The answer to an upload. */
export interface ServedUpload {
  readonly answer: UpstreamAnswer;
  readonly route: AudioRoute;
}

/**
 * The start of a file that is kept to be sent again. A route that takes no connection, or refuses from the start, has by then
 * been given less than this (what waits for it is bounded by half as much, and the last piece that was read), and most voice
 * messages are smaller as a whole.
 */
const KEPT_BYTES_MAX = 512 * 1024;

/**
 * Sends a form to the first of these routes, and to the next ones as long as all that was sent is still there. `onFailed`
 * hears of each route whose provider had something of it and did not serve it.
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

  /** Opens the next route and sends it what there is; throws where there is none, or it may not be asked. */
  const moveOn = async (thrown: unknown): Promise<void> => {
    let error = thrown;
    for (;;) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.hasReachedProvider) onFailed(current.route);
      if (!error.mayTryNext) throw error;
      last = last === undefined ? error : moreTelling(last, error);
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

/** Keeps what comes, up to a bound, in one buffer: many tiny pieces must not cost more than their bytes. */
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
    /** A copy, as what is sent is given away; undefined where not all is there. */
    all: (): Buffer | undefined => buffer && Buffer.from(buffer.subarray(0, length)),
  };
};

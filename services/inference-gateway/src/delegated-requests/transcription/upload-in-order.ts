import { randomBytes } from 'node:crypto';
import type { Logger } from '@svc/service-kit';
import type { AudioRoute } from '../../provider-routes/index.ts';
import {
  type FormFields,
  failureToReport,
  kindOf,
  type RouteRequest,
  type UpstreamDeps,
  type UpstreamResponse,
} from '../../providers/index.ts';
import { UpstreamFailure } from '../../upstream-failure.ts';
import type { PartHeaders } from './multipart.ts';
import { openUpload } from './open-upload.ts';

const MEDIA_TYPE = /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/i;
const EXTENSION = /\.([a-z0-9]{1,8})$/i;

/** A form whose file begins. */
interface OpenedForm extends Pick<RouteRequest, 'keepSpan'> {
  readonly headers: PartHeaders;
  /** Fields before the file. */
  readonly fields: FormFields;
  readonly log: Logger;
}

/** Upload of a transcription form to one route. */
interface FormUpload {
  readonly route: AudioRoute;
  /** Sends more of the file and takes ownership of the bytes. Throws UpstreamFailure if the provider has ended the request. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Sends the fields after the file, closes the form and returns a successful response. Throws UpstreamFailure. */
  readonly finish: (fields: FormFields) => Promise<UpstreamResponse>;
  /** Aborts the request, unless the form is closed. */
  readonly abort: () => void;
  /** Returns true once the form is closed, as the provider may then serve it. */
  readonly isComplete: () => boolean;
}

/** Opens the form for a route, with the field names of its provider. */
const openFormUpload = (deps: UpstreamDeps, route: AudioRoute, form: OpenedForm): FormUpload => {
  const boundary = `svc-${randomBytes(18).toString('base64url')}`;
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const upload = openUpload(deps, { route, contentType, log: form.log, keepSpan: form.keepSpan });
  const { formFields } = kindOf(route.provider);
  const early = formFields(form.fields);
  const parts = (fields: FormFields): string =>
    [...fields].map(([name, value]) => fieldPart(boundary, name, value)).join('');
  const head = [fieldPart(boundary, 'model', route.deployment), parts(early), filePartHead(boundary, form.headers)];
  const opened = upload.write(head.join(''));
  return {
    route,
    write: async (bytes) => {
      await opened;
      await upload.write(bytes);
      await upload.checkEarlyEnd();
    },
    finish: async (fields) => {
      const late = new Map([...formFields(fields)].filter(([name]) => !early.has(name)));
      return await upload.finish(`\r\n${parts(late)}--${boundary}--\r\n`);
    },
    abort: upload.abort,
    isComplete: upload.isComplete,
  };
};

const fieldPart = (boundary: string, name: string, value: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** Keeps the type and extension of the file, which providers detect formats by, but not its name, which is content. */
const filePartHead = (boundary: string, { filename = '', contentType = '' }: PartHeaders): string => {
  const extension = EXTENSION.exec(filename)?.[0] ?? '';
  const type = MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
  return `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="audio${extension}"\r\ncontent-type: ${type}\r\n\r\n`;
};

/** An upload that falls back to the next route if the current one has definitely served nothing. */
export interface OrderedUpload {
  /** Sends more of the file and takes ownership of the bytes. Throws UpstreamFailure. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Closes the form and returns a successful response with its route. Throws UpstreamFailure. */
  readonly finish: (fields: FormFields) => Promise<ServedUpload>;
  readonly abort: () => void;
  /** Returns true once a provider has the whole form, as it may then serve it. */
  readonly isComplete: () => boolean;
}

/** The response to an upload, and its route. */
interface ServedUpload {
  readonly response: UpstreamResponse;
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
          return { response: await current.finish(fields), route: current.route };
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

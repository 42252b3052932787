import { randomBytes } from 'node:crypto';
import type { Logger } from '@svc/service-kit';
import type { PartHeaders } from '../multipart/index.ts';
import {
  type FormFields,
  kindOf,
  type RouteRequest,
  type UpstreamAnswer,
  type UpstreamDeps,
} from '../providers/index.ts';
import type { AudioRoute } from '../routes/index.ts';
import { openUpload } from './open-upload.ts';

const MEDIA_TYPE = /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/i;
const EXTENSION = /\.([a-z0-9]{1,8})$/i;

/** A form whose file begins. */
export interface OpenedForm extends Pick<RouteRequest, 'keepSpan'> {
  readonly headers: PartHeaders;
  /** Fields before the file. */
  readonly fields: FormFields;
  readonly log: Logger;
}

/** Upload of a transcription form to one route. */
export interface FormUpload {
  readonly route: AudioRoute;
  /** Sends more of the file and takes ownership of the bytes. Throws UpstreamFailure if the provider has ended the request. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Sends the fields after the file, closes the form and returns a successful answer. Throws UpstreamFailure. */
  readonly finish: (fields: FormFields) => Promise<UpstreamAnswer>;
  /** Aborts the request, unless the form is closed. */
  readonly abort: () => void;
  /** Returns true once the form is closed, as the provider may then serve it. */
  readonly isComplete: () => boolean;
}

/** Opens the form for a route, with the field names of its provider. */
export const openFormUpload = (deps: UpstreamDeps, route: AudioRoute, form: OpenedForm): FormUpload => {
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

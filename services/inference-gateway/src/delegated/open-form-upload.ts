import { randomBytes } from 'node:crypto';
import type { Logger } from '@svc/service-kit';
import type { PartHeaders } from '../multipart/index.ts';
import { type FormFields, kindOf, type UpstreamAnswer, type UpstreamDeps } from '../providers/index.ts';
import type { AudioRoute } from '../routes/index.ts';
import { openUpload } from './open-upload.ts';

const MEDIA_TYPE = /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/i;
const EXTENSION = /\.([a-z0-9]{1,8})$/i;

/** What is known of a form when its file begins. */
export interface OpenedForm {
  readonly headers: PartHeaders;
  /** Those that came before the file. */
  readonly fields: FormFields;
  readonly log: Logger;
}

/** A transcription form on its way to one route. */
export interface FormUpload {
  readonly route: AudioRoute;
  /** Sends more of the file, and takes the bytes over. Throws UpstreamFailure where the provider has ended the request by now. */
  readonly write: (bytes: Buffer) => Promise<void>;
  /** Closes the form, with the fields that came behind the file, and answers the head of a 200. Throws UpstreamFailure. */
  readonly finish: (fields: FormFields) => Promise<UpstreamAnswer>;
  /** Breaks the request off, unless the form is closed. */
  readonly abort: () => void;
  /** Whether the form is closed, so that the provider may have served it. */
  readonly isComplete: () => boolean;
}

/** Opens the form for a route, in the words of its provider. */
export const openFormUpload = (deps: UpstreamDeps, route: AudioRoute, form: OpenedForm): FormUpload => {
  const boundary = `svc-${randomBytes(18).toString('base64url')}`;
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const upload = openUpload(deps, { route, contentType, log: form.log });
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

/** The file keeps its type and extension, by which providers tell formats apart, and loses its name, which is content. */
const filePartHead = (boundary: string, { filename = '', contentType = '' }: PartHeaders): string => {
  const extension = EXTENSION.exec(filename)?.[0] ?? '';
  const type = MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
  return `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="audio${extension}"\r\ncontent-type: ${type}\r\n\r\n`;
};

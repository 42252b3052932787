import { Readable, Transform } from 'node:stream';
import { html } from '@svc/pages';
import type { Request, Response } from 'express';
import { describeProblem, problemView } from '../pages.ts';
import type { View } from '../texts/index.ts';
import { type ConnectedVisitor, sendHome } from './home.ts';

/** The service's limit plus the form's overhead. */
const FORM_BYTES_MAX = 25_000_000 + 64 * 1024;

/** A user's upload. */
export interface Upload {
  readonly visitor: ConnectedVisitor;
  readonly view: View;
}

/** Transcribes an uploaded file and shows the text. */
export const transcribeUpload = async (
  request: Request,
  response: Response,
  { visitor, view }: Upload,
): Promise<void> => {
  const form = await readForm(request);
  const file = form?.get('file');
  if (form === undefined || !(file instanceof Blob) || file.size === 0) {
    const message = view.texts.transcription.wrongFile;
    response.status(form === undefined ? 413 : 400);
    await sendHome(response, visitor, { view, notice: problemView({ status: 400, message }) });
    return;
  }
  const language = form.get('language');
  try {
    const { text } = await visitor.partner.clientOf(visitor.svcUserId).transcribe({
      file,
      filename: 'name' in file && typeof file.name === 'string' ? file.name : 'audio',
      language: typeof language === 'string' && language !== '' ? language : null,
    });
    const notice = html`<section aria-labelledby="text-title"><h2 id="text-title">${view.texts.transcription.result}</h2><blockquote id="transcription-text">${text}</blockquote></section>`;
    await sendHome(response, visitor, { view, notice });
  } catch (error) {
    const problem = describeProblem(error, view);
    await sendHome(response.status(problem.status), visitor, { view, notice: problemView(problem) });
  }
};

/** Returns the form of a request; undefined if it is too large or not a form. */
const readForm = async (request: Request): Promise<FormData | undefined> => {
  let bytes = 0;
  const limit = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > FORM_BYTES_MAX) done(new RangeError('The form is too large.'));
      else done(null, chunk);
    },
  });
  try {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const body = Readable.toWeb(request.pipe(limit));
    return await new globalThis.Response(body, { headers }).formData();
  } catch {
    // Drained, since a browser reads the response only after sending everything.
    request.unpipe(limit).resume();
    return undefined;
  }
};

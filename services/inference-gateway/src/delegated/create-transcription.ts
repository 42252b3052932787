import { randomBytes } from 'node:crypto';
import { AUDIO_FILE_BYTES_MAX, costOfAudio, type routes } from '@svc/contracts';
import { AppError, HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import type { PartHeaders } from '../multipart/index.ts';
import { collectBody, type UpstreamAnswer, UpstreamFailure } from '../providers/index.ts';
import type { AudioRoute } from '../routes/index.ts';
import { type RequestBook, releasedEnd, servedBy } from '../usage-records/index.ts';
import { recordableName, sendJsonText } from '../wire/index.ts';
import { admitDelegated } from './admit-delegated.ts';
import type { DelegatedDeps } from './delegated-deps.ts';
import { estimateAudioMs } from './estimate-audio.ts';
import { openUpload, type Upload } from './open-upload.ts';
import { readTranscriptionForm, type TranscriptionTexts } from './read-transcription-form.ts';
import { rewriteTranscription } from './rewrite-transcription.ts';
import { toDelegatedError } from './upstream-errors.ts';

/** A transcription of an hour with all its segments has a few. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const MEDIA_TYPE = /^[a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,64}$/i;
const EXTENSION = /\.([a-z0-9]{1,8})$/i;

type Context = RequestContext<typeof routes.createDelegatedTranscription>;

/** An upload under way, and what is known of it. */
interface Transcription {
  readonly book: RequestBook;
  readonly upload: Upload;
  /** Fields that the provider already has. */
  readonly sent: Set<string>;
  readonly boundary: string;
  bytes: number;
}

/**
 * Transcription on behalf of a user. The file goes to the provider while it arrives, and the form is closed only once all of
 * it is right: a provider that has not had the whole form serves nothing, so whatever fails before that costs nothing.
 */
export const createTranscription = async (deps: DelegatedDeps, context: Context): Promise<Reply> => {
  const candidates = deps.routes().delegatedTranscription(deps.clock());
  // Nothing is kept of a file that arrives, so that no second route can be tried later.
  const route = candidates.find(deps.gates.hasRoom) ?? candidates[0];
  if (route === undefined) throw new AppError('subscription_transcription_not_configured');
  let running: Transcription | undefined;
  const abandon = (): void => running?.upload.abort();
  context.signal.addEventListener('abort', abandon);
  try {
    const fields = await readTranscriptionForm(context.req, {
      open: async (headers, before) => {
        running = await start(deps, { context, route }, { headers, fields: before });
      },
      write: async (bytes) => {
        if (running === undefined) throw new Error('the file arrives before it is opened');
        running.bytes += bytes.length;
        await running.upload.write(bytes);
        await running.upload.checkEarlyEnd();
      },
    });
    if (running === undefined) throw new Error('a form without a file was taken for whole');
    await finishUpload(deps, { context, route }, { running, fields });
    return HANDLED;
  } catch (thrown) {
    running?.upload.abort();
    // What is left of the form is thrown away, so that the answer reaches a caller that is still sending.
    context.req.resume();
    const error = thrown instanceof UpstreamFailure ? toDelegatedError(thrown) : thrown;
    const isCertain =
      running?.upload.isComplete() !== true || (thrown instanceof UpstreamFailure && !thrown.isUncertain);
    const status = error instanceof AppError ? error.status : 500;
    await running?.book.finishFailed({ isUncertain: !isCertain, status });
    // Nobody is left to be answered, and nothing has failed.
    if (context.signal.aborted && running?.upload.isComplete() !== true) return HANDLED;
    throw error;
  } finally {
    context.signal.removeEventListener('abort', abandon);
  }
};

interface Exchange {
  readonly context: Context;
  readonly route: AudioRoute;
}

const start = async (
  deps: DelegatedDeps,
  { context, route }: Exchange,
  { headers, fields }: { readonly headers: PartHeaders; readonly fields: TranscriptionTexts },
): Promise<Transcription> => {
  const announced = Number(context.req.headers['content-length'] ?? AUDIO_FILE_BYTES_MAX);
  const book = await admitDelegated(deps, {
    requestId: context.requestId,
    caller: context.caller,
    service: 'audio_transcription',
    isStreamed: false,
    estimateMicros: costOfAudio(
      route.price.micros_per_second,
      estimateAudioMs(Math.min(announced, AUDIO_FILE_BYTES_MAX)),
    ),
    idempotencyKey: context.headers['idempotency-key'],
  });
  const boundary = `svc-${randomBytes(18).toString('base64url')}`;
  const upload = openUpload(deps, {
    route,
    contentType: `multipart/form-data; boundary=${boundary}`,
    log: context.log,
  });
  await upload.write(
    [
      fieldPart(boundary, 'model', route.upstreamModel),
      ...[...fields].map(([name, value]) => fieldPart(boundary, name, value)),
      filePartHead(boundary, headers),
    ].join(''),
  );
  return { book, upload, boundary, sent: new Set(fields.keys()), bytes: 0 };
};

const finishUpload = async (
  deps: DelegatedDeps,
  { context, route }: Exchange,
  { running, fields }: { readonly running: Transcription; readonly fields: TranscriptionTexts },
): Promise<void> => {
  const { boundary, upload, sent, book } = running;
  const late = [...fields].filter(([name]) => !sent.has(name)).map(([name, value]) => fieldPart(boundary, name, value));
  const answer = await upload.finish(`\r\n${late.join('')}--${boundary}--\r\n`);
  const { body, audioMs } = rewriteTranscription(await collectBody(answer, ANSWER_BYTES_MAX));
  const billedMs = audioMs ?? estimateAudioMs(running.bytes);
  await book.finish({
    ...releasedEnd(200, deps.clock()),
    servedBy: servedBy(route),
    upstreamRequestId: requestIdOf(answer),
    audioMs: billedMs,
    isEstimated: audioMs === undefined,
    outcome: 'settled',
    costMicros: costOfAudio(route.price.micros_per_second, billedMs),
  });
  sendJsonText(context.res, body);
};

const fieldPart = (boundary: string, name: string, value: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** The file keeps its type and extension, by which providers tell formats apart, and loses its name, which is content. */
const filePartHead = (boundary: string, { filename = '', contentType = '' }: PartHeaders): string => {
  const extension = EXTENSION.exec(filename)?.[0] ?? '';
  const type = MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
  return `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="audio${extension}"\r\ncontent-type: ${type}\r\n\r\n`;
};

const requestIdOf = ({ headers }: UpstreamAnswer): string | null => recordableName(headers['x-request-id']);

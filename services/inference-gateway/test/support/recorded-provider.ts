import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { startRawProvider } from './raw-provider.ts';

/** What a recorded provider was sent. */
export interface Sent {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Answers with the recorded answers that lie in the folders of the providers. */
export interface RecordedProvider {
  readonly url: string;
  /** Plays `src/providers/<name>.http`, such as `mistral/fixtures/chat`, to the next requests. */
  play: string;
  readonly sent: () => Sent;
  readonly stop: () => Promise<void>;
}

/** A recorded answer as the wire had it: status line, headers, an empty line, the body. */
const readRecorded = (name: string) => {
  const text = readFileSync(new URL(`../../src/providers/${name}.http`, import.meta.url), 'utf8');
  const end = text.indexOf('\n\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), body: text.slice(end + 2) };
};

export const startRecordedProvider = async (): Promise<RecordedProvider> => {
  const raw = await startRawProvider();
  let sent: Sent | undefined;
  raw.handle = (req, res, body) => {
    sent = { url: req.url ?? '', headers: req.headers, body };
    const recorded = readRecorded(provider.play);
    res.writeHead(recorded.status, recorded.headers).end(recorded.body);
  };
  const provider: RecordedProvider = {
    url: raw.url,
    play: '',
    sent: () => {
      if (sent === undefined) throw new Error('nothing was sent yet');
      return sent;
    },
    stop: raw.stop,
  };
  return provider;
};

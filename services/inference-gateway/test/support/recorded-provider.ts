import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { startRawProvider } from './raw-provider.ts';

/** Request received by a recorded provider. */
export interface Sent {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A provider that replays the recorded answers in the folders of the providers. */
export interface RecordedProvider {
  readonly url: string;
  /** Name of the answer to the next requests: `mistral/fixtures/chat` for `src/providers/mistral/fixtures/chat.http`. */
  play: string;
  readonly sent: () => Sent;
  readonly stop: () => Promise<void>;
}

/** Reads a recorded answer: status line, headers, an empty line, body. */
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

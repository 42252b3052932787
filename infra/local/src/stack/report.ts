import { relative } from 'node:path';
import { ProcessError, StartError } from '@svc/testing/servers';

const PROGRESS_MS = 10_000;

export interface Report {
  readonly line: (text: string) => void;
  /** Prints the last lines of a start: the ready line, then what to try next. */
  readonly ready: (baseUrl: string, details: ReadyDetails) => void;
}

export interface ReadyDetails {
  readonly startedInMs: number;
  readonly dataDirectory: string;
  readonly missing: readonly string[];
  /** Undefined if the sample partner app is off. */
  readonly samplePartnerUrl: string | undefined;
}

export const createReport = (write: (text: string) => void): Report => ({
  line: (text) => write(`  ${text}\n`),
  ready: (baseUrl, details) => write(`${readyLines(baseUrl, details).join('\n')}\n`),
});

/** Runs a step of the start. Prints every ten seconds that it goes on, and at its end what is done. */
export const reportStep = async <T>(
  report: Report,
  { doing, done }: { readonly doing: string; readonly done?: string },
  work: () => Promise<T>,
): Promise<T> => {
  const startedAt = performance.now();
  const elapsed = (): string => `${seconds(performance.now() - startedAt)} s`;
  const progress = setInterval(() => report.line(`still ${doing} (${elapsed()})`), PROGRESS_MS);
  try {
    const result = await work();
    if (done !== undefined) report.line(`${done} (${elapsed()})`);
    return result;
  } finally {
    clearInterval(progress);
  }
};

const readyLines = (
  baseUrl: string,
  { startedInMs, dataDirectory, missing, samplePartnerUrl }: ReadyDetails,
): string[] => [
  `ready ${baseUrl}`,
  `  started in ${seconds(startedInMs)} s`,
  ...missing.map((service) => `  without ${service}: its folder is missing, so its paths answer 503`),
  '  try next:',
  `    curl -s ${baseUrl}/v1/subscriptions/plans`,
  `    curl -s ${baseUrl}/.well-known/openid-configuration`,
  `    the three-minute tour in README.md, or ${baseUrl}/ in a browser`,
  `    ${baseUrl}/docs in a browser: guides, beginning with a quick start, and the API reference`,
  `    ${baseUrl}/sandbox/mail in a browser: the mails that it sends`,
  ...(samplePartnerUrl === undefined ? [] : [`    ${samplePartnerUrl}/ in a browser: a sample partner app`]),
  `  logs in ${dataDirectory}/logs, addresses and process ids in ${dataDirectory}/stack.json; Ctrl-C stops everything`,
];

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);

/** Returns a path as the person who started the stack would write it. */
export const readablePath = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere === '' || fromHere.startsWith('..') ? path : fromHere;
};

/** Adds the path of a process's log to the message of its failure. */
export const withLogPath = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    const end = /[.?!]$/.test(error.message) ? '' : '.';
    throw new StartError(`${error.message}${end} See ${readablePath(path)}.`, { cause: error });
  }
};

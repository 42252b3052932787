/** Where the stack tells a person what it does. */
export interface Report {
  /** A step of the start, or something that happened while running. */
  line: (text: string) => void;
  /** The last output of a start: the ready line, then what to try next. */
  ready: (baseUrl: string, details: ReadyDetails) => void;
}

/** What the ready message tells besides the address. */
export interface ReadyDetails {
  startedInMs: number;
  dataDirectory: string;
  /** Folders of services that are not there. */
  missing: readonly string[];
  /** Undefined where it is off. */
  samplePartnerUrl: string | undefined;
}

/** Reports by writing text, such as to standard output. */
export const createReport = (write: (text: string) => void): Report => ({
  line: (text) => write(`  ${text}\n`),
  ready: (baseUrl, details) => write(`${readyLines(baseUrl, details).join('\n')}\n`),
});

const readyLines = (
  baseUrl: string,
  { startedInMs, dataDirectory, missing, samplePartnerUrl }: ReadyDetails,
): string[] => [
  `ready ${baseUrl}`,
  `  started in ${seconds(startedInMs)} s`,
  ...missing.map((service) => `  without ${service}: its folder is not there, so its paths answer 503`),
  '  try next:',
  `    curl -s ${baseUrl}/v1/subscriptions/plans`,
  `    curl -s ${baseUrl}/.well-known/openid-configuration`,
  `    the three-minute tour in README.md, or ${baseUrl}/ in a browser`,
  `    ${baseUrl}/docs in a browser: guides, beginning with a quick start, and the API reference`,
  ...(samplePartnerUrl === undefined ? [] : [`    ${samplePartnerUrl}/ in a browser: a sample partner app`]),
  `  logs in ${dataDirectory}/logs, addresses and process ids in ${dataDirectory}/stack.json; Ctrl-C stops everything`,
];

/** Seconds with one decimal. */
export const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);

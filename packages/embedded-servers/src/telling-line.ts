const MARKS = [/\b(?:FATAL|PANIC|FTL)\b/, /^(?:[\w.]*Error|error)\b.*:/, /\b(?:ERROR|ERR)\b|^\w+: error:/];
const CHARACTERS_MAX = 300;

/**
 * Returns the line of a process's output that says why it failed: of a PostgreSQL or NATS log, of our JSON logs, or of an
 * uncaught exception. Otherwise the last line.
 */
export const tellingLine = (output: string): string => {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .reverse();
  const logged = lines.map(readLogLine).find((line) => line !== undefined);
  const marked = MARKS.map((mark) => lines.find((line) => mark.test(line))).find((line) => line !== undefined);
  return (logged ?? marked ?? lines[0] ?? '').slice(0, CHARACTERS_MAX);
};

/** Returns message, faults and error of a JSON log line with level error or fatal. */
const readLogLine = (line: string): string | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, message, faults, err } = JSON.parse(line);
    if (level !== 'error' && level !== 'fatal') return undefined;
    return [message, ...(Array.isArray(faults) ? faults : []), err?.message].filter(Boolean).join(': ');
  } catch {
    return undefined;
  }
};

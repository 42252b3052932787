/** Changes that fail for code that still runs. */
const CONTRACTING: readonly (readonly [fault: string, pattern: RegExp])[] = [
  ['drops a table', /\bDROP\s+TABLE\b|\bdropTable/i],
  ['drops a column', /\bDROP\s+COLUMN\b|\bdropColumn/i],
  ['drops a type', /\bDROP\s+(TYPE|VIEW|DOMAIN)\b/i],
  ['renames', /\bRENAME\b|\brename(Table|Column)/i],
  ['changes a type', /\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b|\.alter\(\)/i],
  ['demands a value', /\bSET\s+NOT\s+NULL\b|\bdropNullable/i],
  [
    'adds a column that demands a value',
    /\bADD\s+(COLUMN\s+)?(?!CONSTRAINT\b)\w+\s+\w[^,;]*\bNOT\s+NULL\b(?![^,;]*\b(DEFAULT|GENERATED)\b)(?<!\bDEFAULT\b[^,;]*)/i,
  ],
];

/** Work in proportion to a table under a lock that keeps its writers, or all, waiting. */
const LOCKING: readonly (readonly [fault: string, pattern: RegExp])[] = [
  ['builds an index without CONCURRENTLY', /\bCREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY\b)/i],
  ['drops an index without CONCURRENTLY', /\bDROP\s+INDEX\s+(?!CONCURRENTLY\b)/i],
  [
    'builds an index for a constraint',
    /\bADD\s+(CONSTRAINT\s+\w+\s+)?(UNIQUE|PRIMARY\s+KEY)\b(?!\s+USING\s+INDEX)|\.(index|unique|primary)\(/i,
  ],
  [
    'checks all rows',
    /\bADD\s+(CONSTRAINT\s+\w+\s+)?(CHECK|FOREIGN\s+KEY)\b(?![^;]*\bNOT\s+VALID\b)|\.(foreign|check\w*)\(/i,
  ],
  [
    'checks all rows of a new column',
    /\bADD\s+(COLUMN\s+)?(?!(?:CONSTRAINT|FOREIGN|CHECK|UNIQUE|PRIMARY)\b)\w+\s+\w[^,;]*\b(REFERENCES|CHECK|UNIQUE)\b/i,
  ],
  [
    'rewrites the table',
    /\bADD\s+(COLUMN\s+)?\w+\s+\w[^,;]*(\bGENERATED\b|\bDEFAULT\s+(nextval|random|clock_timestamp|gen_random_uuid|uuidv[47])\b)/i,
  ],
];

const WRITES = /\bUPDATE\s+(ONLY\s+)?\w+(\s+AS)?(\s+\w+)?\s+SET\b|\bDELETE\s+FROM\b|\.(update|delete|del)\(/i;
const WITHOUT_TRANSACTION = /\bconfig\s*=\s*\{\s*transaction:\s*false\s*\}/;

/**
 * Finds the faults in the text of a migration that comes after the baseline. Tables that it creates are empty and unknown to
 * running code, so their indexes and constraints do not count.
 */
export const faultsOf = (text: string): string[] => {
  const code = text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
  const created = [...code.matchAll(/\bCREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)/gi)].map(
    ([, name]) => name,
  );
  const ofCreated = new RegExp(`\\b(ON|TABLE)\\s+(ONLY\\s+)?(${created.join('|')})\\b`, 'i');
  const statements = code
    .replaceAll(/CREATE\s+(UNLOGGED\s+)?TABLE[^;]*(;|$)/gi, '')
    .split(';')
    .filter((statement) => created.length === 0 || !ofCreated.test(statement))
    .join(';');
  const hasTransaction = !WITHOUT_TRANSACTION.test(code);
  const faults = [...CONTRACTING, ...LOCKING].filter(([, pattern]) => pattern.test(statements)).map(([fault]) => fault);
  if (hasTransaction && /\bCONCURRENTLY\b/i.test(statements)) faults.push('uses CONCURRENTLY in a transaction');
  if (hasTransaction && WRITES.test(statements)) faults.push('changes rows in one transaction');
  if (/\bCREATE\s+(OR\s+REPLACE\s+)?FUNCTION\b|\bDROP\s+FUNCTION\b/i.test(code)) faults.push('defines a function');
  return faults;
};

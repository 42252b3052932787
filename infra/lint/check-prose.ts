/** Fails if a docstring opens with a question word, or a text contains a banned word or a British spelling. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TEXTS = /\.(?:tsx?|mjs|js|css|md|ya?ml|sql)$/;
/** Generated, recorded or released texts, which an edit would falsify. */
const NOT_OURS_TO_EDIT = /(?:^|\/)(?:generated|results|migrations|fixtures)\/|schema\.sql$|pnpm-lock|CHANGELOG/;
const OPENER = /\/\*\*\s*(?:\*\s*)?(?:What|How|Who|Whether|Where|When)\b/g;
/** A quoted or backticked `nobody` is the system account. */
const WORD =
  /(?<!['`])\b(?:whoever|somebody|nobody|whatever|such a one|is told|are told|tells of|asked are|of its own)\b(?!['`])/gi;
/** The contract's own `cancelled` stays. A code fence is no defence. */
const BRITISH =
  /colour|behaviour|neighbour|recognis|organisation|labelled(?!by)|normalis|serialis|honour|licence|judgement|(?<!co)defence|artefact|favour/gi;

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const findingsOf = (file: string): Finding[] => {
  const source = readFileSync(file, 'utf8');
  const rules = /\.tsx?$/.test(file) ? [OPENER, WORD, BRITISH] : [WORD, BRITISH];
  return rules.flatMap((rule) =>
    [...source.matchAll(rule)].map(({ 0: text, index }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      text: text.replace(/\s+/g, ' '),
    })),
  );
};

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
const findings = listed
  .split('\n')
  .filter((file) => TEXTS.test(file) && !NOT_OURS_TO_EDIT.test(file) && !file.startsWith('infra/lint/'))
  .flatMap(findingsOf);

const report = findings.map(({ file, line, text }) => `${file}:${line}: "${text}"`);

if (report.length > 0) {
  process.stderr.write(
    `Say it plainly (who does what; docstrings start with a verb; American spelling):\n${report.join('\n')}\n`,
  );
  process.exitCode = 1;
}

import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test.each([
  [['a', -1, true, null, undefined], 'a,-1,true,,\r\n'],
  [['Notes, "beta"', 'two\nlines'], '"Notes, ""beta""","two\nlines"\r\n'],
  [['=1+1', '+1', '-1', '@x', '\t=1'], "'=1+1,'+1,'-1,'@x,'\t=1\r\n"],
  [['Me; =1;＠b', 'a;b', 'a=b'], "Me;' =1;'＠b,a;b,a=b\r\n"],
])('writes %j as a line in which no text is a formula', (cells, line) => {
  expect(csvLine(cells)).toBe(line);
});

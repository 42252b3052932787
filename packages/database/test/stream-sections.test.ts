import { expect, test } from 'vitest';
import { createDatabase, streamSections } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

test('streams every row of every section from one snapshot, with a batch in memory', async () => {
  const url = await emptyDatabase();
  const database = createDatabase(url, { poolMax: 2 });
  try {
    await database.raw(`
      CREATE TABLE item (owner text, n int, secret text);
      INSERT INTO item SELECT 'usr_1', n, 'hidden' FROM generate_series(1, 1201) AS n;
      INSERT INTO item VALUES ('usr_2', 7, 'hidden');
    `);
    const pieces: string[] = [];
    const sections = [
      { name: 'items', sql: 'SELECT n FROM item WHERE owner = $1 ORDER BY n' },
      { name: 'none', sql: "SELECT n FROM item WHERE owner = $1 || 'x'" },
    ];
    const write = async (text: string): Promise<void> => {
      // A change during the export is not in it.
      if (pieces.length === 1) await database.raw("INSERT INTO item VALUES ('usr_1', 5000, 'hidden')");
      pieces.push(text);
    };
    await streamSections({ url }, sections, { id: 'usr_1', write });
    const items = Array.from({ length: 1201 }, (_, index) => ({ n: index + 1 }));
    expect(JSON.parse(pieces.join(''))).toEqual({ items, none: [] });
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(8_000);
  } finally {
    await database.destroy();
  }
});

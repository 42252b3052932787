/**
 * Start of a cell that spreadsheets execute as a formula. In many languages, such as Italian, they start a cell after a semicolon
 * too, and some read full-width signs.
 */
const FORMULA = /(^|;)(?=\s*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20])/g;

type Cell = string | number | boolean | null | undefined;

const toField = (cell: Cell): string => {
  if (typeof cell !== 'string') return String(cell ?? '');
  const text = cell.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Returns a line of a CSV file with its end (RFC 4180 section 2). No text in it is a formula: other people chose the names. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(toField).join(',')}\r\n`;

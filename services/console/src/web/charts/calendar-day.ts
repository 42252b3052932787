/** Returns the UTC day of an instant as a date of the reader's calendar, so that the 20th is written as the 20th everywhere. */
export const toCalendarDay = (instant: string): Date => {
  const [year = 0, month = 1, date = 1] = instant.slice(0, 10).split('-').map(Number);
  return new Date(year, month - 1, date);
};

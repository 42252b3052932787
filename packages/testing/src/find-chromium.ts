import { access, constants } from 'node:fs/promises';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Finds a Chromium: `CHROMIUM_PATH` or the usual paths. Prints a warning and returns undefined if there is none. */
export const findChromium = async (): Promise<string | undefined> => {
  for (const path of [process.env['CHROMIUM_PATH'], ...CANDIDATES]) {
    if (!path) continue;
    const isRunnable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isRunnable) return path;
  }
  process.stderr.write(
    '\n*** BROWSER TESTS SKIPPED: no Chromium found. Install one (apt-get install chromium) or set CHROMIUM_PATH. ***\n\n',
  );
  return undefined;
};

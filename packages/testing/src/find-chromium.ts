import { access, constants } from 'node:fs/promises';

/** The headless shell first: it is the same engine without a user interface, and takes little more than half of the time. */
const CANDIDATES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** Command-line arguments for tests: without a user namespace or large shared memory, and with the same letters in both. */
export const CHROMIUM_ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=slight'];

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
    '\n*** BROWSER TESTS SKIPPED: no Chromium found. Install one (apt-get install chromium-headless-shell) or set CHROMIUM_PATH. ***\n\n',
  );
  return undefined;
};

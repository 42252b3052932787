/** Long enough for a browser to start reading the file. */
const READ_WITHIN_MS = 60_000;

/** Saves a file as a download of the browser. */
export const saveFile = (file: Blob, name: string): void => {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), READ_WITHIN_MS);
};

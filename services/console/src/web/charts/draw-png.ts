const SCALE = 2;
const MARGIN = 24;
const TITLE_HEIGHT = 48;
const ROW_HEIGHT = 24;
const SWATCH = 11;
/** Properties set by style sheets, which do not apply to a picture. */
const DRAWN = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size'] as const;

/** Draws a chart with its title and legend as a PNG, in its current colors. */
export const drawPng = async (
  figure: HTMLElement,
  { label, note }: { label: string; note: string },
): Promise<Blob | undefined> => {
  const svg = figure.querySelector<SVGSVGElement>('.chart-plot svg');
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (svg === null || context === null) return undefined;
  const { width, height } = svg.getBoundingClientRect();
  const rows = [...figure.querySelectorAll<HTMLElement>('.chart-legend li')];
  canvas.width = (width + 2 * MARGIN) * SCALE;
  canvas.height = (MARGIN + TITLE_HEIGHT + height + rows.length * ROW_HEIGHT + MARGIN) * SCALE;
  context.scale(SCALE, SCALE);
  const { color, fontFamily } = getComputedStyle(figure);
  context.fillStyle = getComputedStyle(figure.closest('.card') ?? document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color;
  context.textBaseline = 'top';
  context.font = `600 16px ${fontFamily}`;
  context.fillText(label, MARGIN, MARGIN);
  context.font = `13px ${fontFamily}`;
  context.fillText(note, MARGIN, MARGIN + 22);
  context.drawImage(await toImage(svg), MARGIN, MARGIN + TITLE_HEIGHT, width, height);
  for (const [index, row] of rows.entries()) {
    const y = MARGIN + TITLE_HEIGHT + height + 8 + index * ROW_HEIGHT;
    drawSwatch(context, row.querySelector('.chart-swatch'), y);
    context.fillStyle = color;
    context.fillText(row.textContent.replaceAll(/\s+/g, ' '), MARGIN + SWATCH + 8, y);
  }
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined)));
};

/** Draws a square for bars, or a stroke for the line of the previous period. */
const drawSwatch = (context: CanvasRenderingContext2D, swatch: Element | null, y: number): void => {
  if (swatch === null) return;
  const { height, backgroundColor, borderTopColor } = getComputedStyle(swatch);
  const isLine = Number.parseFloat(height) < SWATCH / 2;
  context.fillStyle = isLine ? borderTopColor : backgroundColor;
  context.fillRect(MARGIN, isLine ? y + 6 : y + 1, SWATCH, isLine ? 2 : SWATCH);
};

const toImage = async (svg: SVGSVGElement): Promise<HTMLImageElement> => {
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image(width * SCALE, height * SCALE);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copyWithStyles(svg)))}`;
  await image.decode();
  return image;
};

const copyWithStyles = (svg: SVGSVGElement): Node => {
  const copy = svg.cloneNode(true);
  if (!(copy instanceof SVGSVGElement)) return copy;
  const seen = [...svg.querySelectorAll('*')];
  for (const [index, element] of [...copy.querySelectorAll('*')].entries()) {
    const original = seen[index];
    if (original === undefined) continue;
    const style = getComputedStyle(original);
    for (const name of DRAWN) element.setAttribute(name, style.getPropertyValue(name));
  }
  return copy;
};

/** Wide enough for the navigation beside the text, as in the stylesheet. */
const WIDE = '(width >= 60rem)';

/** Folds the navigation on narrow screens, where it would push the text away. */
export const enableMenu = (): void => {
  const menu = document.querySelector<HTMLDetailsElement>('details.menu');
  if (menu === null) return;
  const wide = matchMedia(WIDE);
  const follow = (): void => {
    menu.open = wide.matches;
  };
  follow();
  wide.addEventListener('change', follow);
};

/** Width for navigation beside the text, as in the stylesheet. */
const WIDE = '(width >= 60rem)';

/** Opens the navigation on wide screens, where the stylesheet shows it in most browsers anyway. */
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

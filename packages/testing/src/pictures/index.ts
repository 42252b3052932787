export { comparePicture } from './compare-picture.ts';
export { LOOKS, type Look, type PictureBook, takePicture, usePictureBook, wear } from './picture-book.ts';

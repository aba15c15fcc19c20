
id